import { signal } from "@preact/signals";
import { t } from "../texts.js";
import { Button, Dialog } from "./basics.js";

const isShown = signal(false);

/** Keys that were pressed just before: "g" begins two of the shortcuts. */
let before = "";

const VIEWS: Readonly<Record<string, string>> = { h: "home", d: "devices", c: "clients", m: "connect", s: "settings" };

const SHORTCUTS = [
	["/", "search"],
	["g h", "home"],
	["g d", "devices"],
	["g c", "clients"],
	["g m", "connect"],
	["g s", "settings"],
	["?", "shortcuts"],
] as const;

addEventListener("keydown", (event) => {
	const { key, target, ctrlKey, metaKey, altKey } = event;
	const isTyped = target instanceof Element && target.matches("input, select, textarea, [contenteditable]");
	if (isTyped || ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) {
		before = "";
		return;
	}
	const view = before === "g" ? VIEWS[key] : undefined;
	before = key;
	if (view !== undefined) {
		location.hash = `#/${view}`;
	} else if (key === "/") {
		event.preventDefault();
		document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
	} else if (key === "?") {
		isShown.value = true;
	}
});

/** Shows the sheet of the keyboard's shortcuts. */
export function showShortcuts(): void {
	isShown.value = true;
}

/** The sheet of the keyboard's shortcuts. */
export function ShortcutSheet() {
	const close = () => (isShown.value = false);
	return (
		<Dialog isOpen={isShown.value} label={t("shortcuts")} onClose={close}>
			<header>
				<h2>{t("shortcuts")}</h2>
			</header>
			<div>
				<table class="members">
					<tbody>
						{SHORTCUTS.map(([keys, text]) => (
							<tr key={keys}>
								<th scope="row">
									{keys.split(" ").map((key) => (
										<kbd key={key} class="badge" data-variant="secondary">
											{key}
										</kbd>
									))}
								</th>
								<td>{t(text)}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<footer>
				<Button onClick={close} text={t("close")} />
			</footer>
		</Dialog>
	);
}
