/** @type {typeof import("./words.en.js").default} */
export default {
  // instead of the form's own
  send: "隨機化並保存",
  afterwards: "之後，您的答案就會從這個頁面消失。",
  learn: "如何保存",

  stored: "已加入雜訊並保存，謝謝您。",
  gone: "這台裝置只保存了一份隨機化的回報。您真正的答案已經消失：下一位使用者或打開檔案的人都看不到。",
  noRoom: "這台裝置無法保存回報，因此什麼都沒有保存。請告知保管裝置的人。",
  next: "下一位",
  how: "每一題下方都說明裝置如何處理答案。所有人的回報都以隨機順序、不含姓名地保存，並由保管裝置的人存成檔案。",
  held: (count) => `給保管裝置的人：這台裝置保存了 ${count} 份回報。`,
  group: "組別",
  save: "將回報存成檔案",
  saved: "刪除之前，請先確認檔案已經存好。",
  remove: "從這台裝置刪除已存檔的回報",
};
