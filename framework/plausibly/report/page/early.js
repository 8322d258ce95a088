// Runs before the page is drawn: marks that scripts run, and sets the colours.
document.documentElement.classList.add("moves");
{
  let theme = null;
  try {
    theme = localStorage.getItem("plausibly-theme");
  } catch {
    // a page opened from a folder may have no storage
  }
  document.documentElement.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
