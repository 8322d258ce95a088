// Light or dark colours: those of the system, until the button is used.

const DARK = matchMedia("(prefers-color-scheme: dark)");

function remembered() {
  try {
    return localStorage.getItem("plausibly-theme");
  } catch {
    return null; // a page opened from a folder may have no storage
  }
}

function remember(theme) {
  try {
    localStorage.setItem("plausibly-theme", theme);
  } catch {
    // the choice then lasts until the page is closed
  }
}

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", theme === "dark" ? "Light colours" : "Dark colours");
}

function startTheme() {
  showTheme(remembered() || (DARK.matches ? "dark" : "light"));
  DARK.addEventListener("change", () => { if (!remembered()) showTheme(DARK.matches ? "dark" : "light"); });
  byId("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    remember(theme);
    showTheme(theme);
  });
}

/** Unfolds everything before it is printed, and folds it again. */
function startPrinting() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    folded = [];
  });
}
