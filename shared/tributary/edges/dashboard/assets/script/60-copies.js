// A button that copies a field. Without this the field is there to be copied by hand.
(() => {
  "use strict";
  const copy = async (button) => {
    const field = document.getElementById(button.dataset.copies);
    const said = document.querySelector("[data-copied]");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = "It is copied.";
    } catch {
      said.textContent = "This browser does not copy for pages: it is selected, copy it with the keyboard.";
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-copies]")) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button));
    }
  });
})();
