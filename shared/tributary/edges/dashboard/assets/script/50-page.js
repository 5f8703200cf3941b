// Without this the pages work as well: times are then UTC, and the theme is the system's.
(() => {
  "use strict";
  const two = (number) => String(number).padStart(2, "0");

  // The same shape and width as what the server wrote: nothing moves when it is put in.
  const local = (at) =>
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;

  const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "those of this computer";

  const tell = (root) => {
    for (const element of root.querySelectorAll("time[data-local]")) {
      const at = new Date(element.dateTime);
      if (!Number.isNaN(at.getTime())) element.textContent = local(at).slice(0, element.dataset.local === "minute" ? 16 : undefined);
    }
    for (const element of root.querySelectorAll("[data-zone]")) element.textContent = zone();
  };

  const THEMES = ["system", "light", "dark"];
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* then for this page alone */ } };
  let theme = THEMES.includes(kept()) ? kept() : "system";
  const dress = () => { document.documentElement.dataset.theme = theme; };
  dress();

  document.addEventListener("DOMContentLoaded", () => {
    tell(document);
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const name = () => { button.textContent = `Theme: ${theme}`; };
      name();
      button.addEventListener("click", () => {
        theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
        keep(theme);
        dress();
        name();
      });
    }
    document.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:load", (event) => tell(event.detail.elt));
})();
