// The feed of the first page: asks for what is new, and puts it where nobody is reading. htmx asks, the server holds the question.
(() => {
  "use strict";
  const LEAST_MS = 2000; // between two questions, however much happens
  const IDLE_MS = 5000; // the same where nothing came: a server that holds no question is asked no more often
  const LONGEST_MS = 60000; // between two tries while the memory is away
  const FIGURES_MS = 15000; // between two looks at the figures when something happened
  const FIGURES_IDLE_MS = 60000; // and when nothing did
  const MOST = 150; // entries that are kept

  const follow = (feed) => {
    const part = (name) => feed.querySelector(`[data-feed-${name}]`);
    const list = part("list"), show = part("show"), pause = part("pause"), state = part("state"), said = part("said");
    let fresh = []; // what came and is not shown yet, newest first
    let paused = false, asking = false, failures = 0, timer = 0, askedAt = 0;

    const tell = (words, away = false) => {
      if (state.textContent !== words) state.textContent = words;
      state.classList.toggle("away", away);
    };
    const ask = () => {
      clearTimeout(timer);
      if (paused || document.hidden || asking) return;
      askedAt = performance.now();
      htmx.trigger(part("next"), "feed-ask");
      if (!asking) again(LEAST_MS); // nothing was sent: an answer is being put in, and htmx does not listen to the new element yet
    };
    const again = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(ask, Math.max(0, ms - (performance.now() - askedAt)));
    };

    const selected = () => {
      const chosen = document.getSelection();
      return Boolean(chosen && !chosen.isCollapsed && chosen.anchorNode && list.contains(chosen.anchorNode));
    };
    const read = () =>
      list.getBoundingClientRect().top < 0 || list.contains(document.activeElement) || list.matches(":hover") || selected();
    const reveal = () => {
      for (const entry of list.querySelectorAll(".new")) entry.classList.remove("new");
      for (const entry of fresh) entry.classList.add("new");
      list.prepend(...fresh);
      fresh = [];
      while (list.children.length > MOST) list.lastElementChild.remove();
      show.hidden = true;
      part("empty").hidden = true;
    };
    const arrive = (came) => {
      fresh = [...came.querySelectorAll(":scope > ol > li"), ...fresh];
      if (!fresh.length) return;
      said.textContent = came.dataset.said;
      if (!read()) { reveal(); return; }
      const count = fresh.filter((entry) => entry.matches("[data-feed-entry]")).length;
      show.textContent = `${count} new`;
      show.hidden = false;
    };

    const failed = () => {
      asking = false;
      failures += 1;
      const ms = Math.min(LONGEST_MS, LEAST_MS * 2 ** Math.min(failures, 10)) * (0.75 + 0.5 * Math.random());
      tell(`The memory cannot be asked: this is what was known. Asked again in ${Math.round(ms / 1000)} s.`, true);
      askedAt = performance.now();
      again(ms);
    };
    const answered = () => {
      asking = false;
      failures = 0;
      tell(paused ? "paused" : "live");
    };
    feed.addEventListener("htmx:beforeSend", () => { asking = true; }); // and nowhere else: what is lost is not waited for
    feed.addEventListener("htmx:beforeSwap", (event) => {
      const status = event.detail.xhr.status;
      // Whatever else answers in the memory's place would take the next question away.
      if (status >= 400 || (status !== 204 && !event.detail.serverResponse.includes("data-feed-next"))) {
        event.detail.shouldSwap = false;
        failed();
        return;
      }
      answered();
      freshen(status === 204 ? FIGURES_IDLE_MS : FIGURES_MS);
      if (status === 204) again(IDLE_MS);
    });
    for (const lost of ["htmx:sendError", "htmx:timeout", "htmx:sendAbort"]) feed.addEventListener(lost, failed);
    // After the times in it were put into the viewer's zone. Only now does htmx hear what the new element is told to ask.
    document.addEventListener("htmx:load", (event) => {
      if (event.detail.elt !== part("next")) return;
      again(LEAST_MS);
      arrive(event.detail.elt);
    });

    document.addEventListener("visibilitychange", () => {
      if (document.hidden) clearTimeout(timer);
      else ask();
    });
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      asking = false;
      ask();
    });
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      tell(paused ? "paused" : "live");
      if (!paused) ask();
    });
    show.addEventListener("click", () => {
      const first = fresh.find((entry) => entry.matches("[data-feed-entry]"));
      reveal();
      first?.focus({ preventScroll: true });
      feed.scrollIntoView({ block: "start" });
    });

    part("again").hidden = true;
    pause.hidden = false;
    tell("live");
    ask();
  };

  let freshAt = performance.now();
  const freshen = (ms) => {
    const figures = document.querySelector("[data-figures]");
    if (!figures || performance.now() - freshAt < ms) return;
    // Nobody's place is taken away: neither a table that is open nor the link that has the focus.
    if (figures.querySelector("details[open]") || figures.contains(document.activeElement)) return;
    freshAt = performance.now();
    htmx.trigger(figures, "figures-stale");
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("[data-figures]")?.addEventListener("htmx:beforeSwap", (event) => {
      if (event.detail.xhr.status >= 400) event.detail.shouldSwap = false; // then the figures stay, with the moment they are of
    });
    for (const feed of document.querySelectorAll("[data-feed]")) follow(feed);
  });
})();
