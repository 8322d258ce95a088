// Sections that fold on a phone: all but the verdict begin folded there.

const PHONE = matchMedia("(max-width: 40rem)");

function setFolded(section, folded) {
  section.classList.toggle("folded", folded);
  section.querySelector("h2 > button")?.setAttribute("aria-expanded", String(!folded));
}

/** Puts the titles of sections into buttons on a phone, and takes them out elsewhere. */
function drawFolds() {
  for (const section of document.querySelectorAll(".card:not(.verdict)")) {
    const heading = section.querySelector("h2");
    const title = heading.textContent;
    const toggle = () => setFolded(section, !section.classList.contains("folded"));
    fill(heading, PHONE.matches ? make("button", { type: "button", onclick: toggle }, title) : title);
    setFolded(section, PHONE.matches);
  }
}

function startFolds() {
  drawFolds();
  PHONE.addEventListener("change", drawFolds);
}
