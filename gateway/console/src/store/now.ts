import { signal } from "@preact/signals";

/** Milliseconds since 1970, which views that say how long ago something was follow. */
export const now = signal(Date.now());

setInterval(() => {
	if (document.visibilityState === "visible") {
		now.value = Date.now();
	}
}, 5_000);
