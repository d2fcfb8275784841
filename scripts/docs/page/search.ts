// The search of the documentation's site. Its index is loaded when the field is first used, as a script: a browser that opens
// files reads no others.
import MiniSearch, { type SearchResult } from "minisearch";
import { type FoundSection, OPTIONS } from "./search-index.js";

const MAX_FOUND = 12;

const root = document.body.dataset.root ?? ".";
const input = document.querySelector("input") as HTMLInputElement;
const list = document.querySelector(".found") as HTMLOListElement;
let index: Promise<MiniSearch<FoundSection>> | undefined;

function loadIndex(): Promise<MiniSearch<FoundSection>> {
	index ??= new Promise((resolve, reject) => {
		const script = document.createElement("script");
		script.src = `${root}/search-index.js`;
		script.onload = () => {
			const { searchIndex } = globalThis as never as { searchIndex: never };
			resolve(MiniSearch.loadJS<FoundSection>(searchIndex, OPTIONS));
		};
		script.onerror = reject;
		document.head.append(script);
	});
	return index;
}

function entryOf({ id, title, page, excerpt }: SearchResult): HTMLLIElement {
	const link = document.createElement("a");
	link.href = `${root}/${id}`;
	for (const [name, text] of [
		["strong", title === page ? title : `${page} › ${title}`],
		["span", excerpt],
	]) {
		const element = document.createElement(name as string);
		element.textContent = text;
		link.append(element);
	}
	const entry = document.createElement("li");
	entry.append(link);
	return entry;
}

async function search(): Promise<void> {
	const text = input.value.trim();
	const found = text === "" ? [] : (await loadIndex()).search(text).slice(0, MAX_FOUND);
	if (text !== input.value.trim()) {
		return;
	}
	const none = document.createElement("li");
	none.textContent = "Nothing found";
	list.replaceChildren(...(found.length > 0 ? found.map(entryOf) : [none]));
	list.hidden = text === "";
}

function close(): void {
	input.value = "";
	list.hidden = true;
}

/** Moves between the field and what was found. */
function step(down: boolean): void {
	const stops: HTMLElement[] = [input, ...list.querySelectorAll<HTMLElement>("a")];
	const at = stops.indexOf(document.activeElement as HTMLElement);
	stops[Math.min(Math.max(at + (down ? 1 : -1), 0), stops.length - 1)]?.focus();
}

input.addEventListener("focus", () => void loadIndex());
input.addEventListener("input", () => void search());
list.addEventListener("click", close);
document.addEventListener("keydown", (event) => {
	if (event.key === "/" && document.activeElement !== input) {
		event.preventDefault();
		input.focus();
	} else if (event.key === "Escape") {
		close();
	} else if (event.key === "Enter" && document.activeElement === input) {
		list.querySelector("a")?.click();
	} else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
		event.preventDefault();
		step(event.key === "ArrowDown");
	}
});

// On a narrow screen the list of pages begins closed.
const pages = document.querySelector("nav details") as HTMLDetailsElement;
pages.open = matchMedia("(min-width: 900px)").matches;
