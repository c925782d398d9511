/** What a page hears of its survey: that something happened, and never an answer. */

window.heard = [];
for (const what of ["ready", "sent", "error"]) {
  document.addEventListener(`deniable-${what}`, ({ type, detail }) => {
    window.heard.push(detail?.reason ? `${type} ${detail.reason}` : type);
    document.getElementById("heard").textContent = window.heard.join(", ");
  });
}
