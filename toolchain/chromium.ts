import { accessSync, constants } from "node:fs";

/** Where distributions put it. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Keep it from reaching anything but this machine. */
export const CHROMIUM_ARGUMENTS = [
	"--disable-background-networking",
	"--no-first-run",
	"--disable-sync",
	"--no-sandbox",
];

/** The Chromium of this machine; undefined if it has none. */
export const chromiumPath = PLACES.find(isThere);

/** Why no page can be opened here; undefined if it can. */
export const whyNoChromium =
	chromiumPath === undefined ? `no Chromium here: install it as one of ${PLACES.join(", ")}` : undefined;

function isThere(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
