// Keeps the end of a growing conversation visible, until the user scrolls up.

/** The view follows new content if it is closer to the end than this. */
const NEAR = 80;

/** How long after user input a scroll event is attributed to it. */
const BY_HAND = 1_000;

export class FollowEnd {
  /** Whether new content is followed. */
  stick = true;
  #scroll;
  #button;
  /** The last scroll position. */
  #at = 0;
  /** The time of the last scrolling input. */
  #moved = 0;

  /** @param {HTMLElement} scroll @param {HTMLElement} content what grows @param {HTMLElement} button leads to the end */
  constructor(scroll, content, button) {
    this.#scroll = scroll;
    this.#button = button;
    scroll.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    for (const what of ["wheel", "touchmove", "pointerdown", "keydown"])
      scroll.addEventListener(what, () => (this.#moved = Date.now()), { passive: true });
    button.addEventListener("click", () => this.toEnd());
    const observer = new ResizeObserver(() => this.stick && this.toEnd());
    observer.observe(content);
    observer.observe(scroll);
  }

  /** The content was replaced. */
  reset() {
    this.stick = true;
    this.#at = 0;
    this.#button.hidden = true;
  }

  /** An empty chat has no end to follow. */
  toTop() {
    this.stick = false;
    this.#scroll.scrollTop = this.#at = 0;
  }

  toEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
    this.#at = this.#scroll.scrollTop;
    this.stick = true;
  }

  #scrolled() {
    const rest = this.#scroll.scrollHeight - this.#scroll.clientHeight - this.#scroll.scrollTop;
    // Content changes can move the view away from the end. Only scrolling up by the user stops following.
    if (rest < NEAR) this.stick = true;
    else if (this.#scroll.scrollTop < this.#at) {
      if (Date.now() - this.#moved < BY_HAND) this.stick = false;
      else this.#settle();
    }
    this.#at = this.#scroll.scrollTop;
    this.#button.hidden = this.stick || rest < 3 * NEAR;
  }

  /** The view was scrolled without user input: by a content change, which is followed in the next frame, or by the browser's
   * find function. */
  #settle() {
    const at = this.#scroll.scrollTop;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (this.#scroll.scrollTop <= at) this.stick = false;
      }),
    );
  }
}
