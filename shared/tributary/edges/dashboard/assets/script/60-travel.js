// Time travel: without this its forms and links work as well, with times of UTC.
(() => {
  "use strict";
  const two = (number) => String(number).padStart(2, "0");
  const find = (selector) => document.querySelector(selector);
  // What a field for a date and time holds: the viewer's own clock.
  const field = (at) =>
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;

  const mark = (within) => {
    for (const bar of document.querySelectorAll(".travel-strip g")) bar.classList.toggle("here", within(bar.dataset));
  };

  // Says where a handle stands; the time is known once the page has it.
  const say = (handle, output, tick, time) => {
    const words = `tick ${tick}${time ? `, ${time}` : ""}`;
    output.textContent = words;
    handle.setAttribute("aria-valuetext", words);
  };

  // Brings the fields above in line with what is shown below; but never the one that somebody is at.
  const follow = () => {
    const now = find("#moment");
    if (!now) return;
    const { tick, since, instant, clock } = now.dataset;
    for (const handle of document.querySelectorAll("#slider, #earlier")) handle.max = clock;
    for (const one of document.querySelectorAll("[data-clock]:not(#moment)")) one.textContent = clock;
    for (const one of document.querySelectorAll("[data-kept]")) {
      const value = now.dataset[one.dataset.kept];
      if (value !== undefined && one !== document.activeElement) one.value = value;
    }
    const times = [...now.querySelectorAll("[role=status] time")].map((one) => one.textContent);
    const slider = find("#slider"), earlier = find("#earlier");
    if (tick !== undefined && (slider !== document.activeElement || slider.value === tick)) say(slider, find("#slid"), tick, times.at(-1));
    if (since !== undefined && (earlier !== document.activeElement || earlier.value === since)) say(earlier, find("#earlier-slid"), since, times[0]);
    if (instant === undefined) return;
    const at = new Date(instant), own = find("[data-instant]:not(#moment)");
    if (own !== document.activeElement) own.value = field(at);
    mark(({ start, end }) => new Date(start) <= at && at < new Date(end));
  };

  document.addEventListener("DOMContentLoaded", () => {
    if (!find("#travel")) return;
    follow();
    find("#slider").addEventListener("input", ({ target }) => {
      say(target, find("#slid"), target.value);
      mark(({ last, ticks }) => Number(last) - Number(ticks) < Number(target.value) && Number(target.value) <= Number(last));
    });
    find("#earlier").addEventListener("input", ({ target }) => say(target, find("#earlier-slid"), target.value));
    find(".travel-strip svg").addEventListener("click", ({ target }) => {
      const bar = target.closest("g");
      if (!bar) return;
      find("#slider").value = bar.dataset.last;
      find("#slider").dispatchEvent(new Event("input", { bubbles: true }));
    });
  });

  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters } = event.detail;
    if (!elt.closest("#travel")) return;
    const own = elt.querySelector("input[type=datetime-local]");
    // A time of the viewer's clock goes out as an instant that means the same to everybody.
    if (own && own.value) parameters.at = new Date(own.value).toISOString();
    for (const name of Object.keys(parameters)) if (parameters[name] === "") delete parameters[name];
  });
  document.addEventListener("htmx:load", () => { if (find("#travel")) follow(); });
})();
