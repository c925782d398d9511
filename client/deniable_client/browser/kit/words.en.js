export default {
  // instead of the form's own
  send: "Randomize and keep",
  afterwards: "Then your answers are gone from this page.",
  learn: "How it is kept",

  stored: "Kept, with noise. Thank you.",
  gone: "This device has kept a randomized report and nothing else. Your true answers are gone: whoever comes next, or opens the file, cannot see them.",
  noRoom: "This device could not keep a report, so nothing was kept. Please tell the person who holds it.",
  next: "Next person",
  how: "Each question says what the device does with its answer. The reports of everyone here are kept in a random order and without a name, and are saved as a file by the person who holds this device.",
  /** @param {string} count */
  held: (count) => `For the person who holds this device. Reports kept: ${count}.`,
  group: "Group",
  save: "Save the reports as a file",
  saved: "Check that the file is there before you remove what it holds.",
  remove: "Remove the saved reports from this device",
};
