// Before anything is drawn: that there are scripts, and which colours.
document.documentElement.classList.add("moves");
{
  let theme = null;
  try {
    theme = localStorage.getItem("plausibly-theme");
  } catch {
    // pages opened from a folder may have no memory
  }
  document.documentElement.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
