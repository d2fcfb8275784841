import { computed, signal } from "@preact/signals";
import { visible } from "xs-mcp-gateway/visible";
import type { TraceLine } from "../src/page-messages.js";
import { Button } from "./inputs.js";
import { lines } from "./link.js";

/** Maximum lines that are drawn: the last ones that match the filter. */
const MAX_DRAWN = 300;

const KINDS = { device: "Device", backend: "Backend", log: "Log", note: "Notes" } as const;

const filter = signal("");
const hidden = signal<ReadonlySet<TraceLine["kind"]>>(new Set(["log"]));
const copied = signal("");

const filtered = computed(() => {
	const wanted = filter.value.toLowerCase();
	return lines.value.filter(
		({ kind, text, remark = "" }) => !hidden.value.has(kind) && `${text} ${remark}`.toLowerCase().includes(wanted),
	);
});

/** Messages, the firmware's log, and what a user would notice. */
export function Trace() {
	const shown = filtered.value.slice(-MAX_DRAWN);
	const toggle = (kind: TraceLine["kind"]): void => {
		const kinds = new Set(hidden.value);
		if (!kinds.delete(kind)) {
			kinds.add(kind);
		}
		hidden.value = kinds;
	};
	return (
		<section class="card trace">
			<h2>Trace</h2>
			<div class="hstack">
				<input
					type="search"
					aria-label="Filter"
					placeholder="Filter, such as tools/call"
					onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
				/>
				{(Object.keys(KINDS) as TraceLine["kind"][]).map((kind) => (
					<label key={kind}>
						<input type="checkbox" checked={!hidden.value.has(kind)} onChange={() => toggle(kind)} />
						{KINDS[kind]}
					</label>
				))}
				<Button
					text={copied.value === "all" ? "Copied" : "Copy all"}
					onClick={() => void copy(filtered.value.map(describe).join("\n"), "all")}
				/>
				<Button text="Clear" onClick={() => (lines.value = [])} />
			</div>
			<ol aria-label="Messages" reversed>
				{[...shown].reverse().map((line) => (
					<Line key={line.id} {...line} />
				))}
			</ol>
		</section>
	);
}

function Line(line: TraceLine) {
	const { id, time, kind, text, remark } = line;
	return (
		<li class={kind}>
			<time>{clock(time)}</time>
			<span class="who" title={remark}>
				{kind}
				{remark?.endsWith("silenced") ? " (silenced)" : ""}
			</span>
			<code>{visible(text)}</code>
			<button type="button" class="ghost small" aria-label="Copy this line" onClick={() => void copy(text, String(id))}>
				{copied.value === String(id) ? "copied" : "copy"}
			</button>
		</li>
	);
}

function clock(time: number): string {
	return new Date(time).toISOString().slice(11, 23);
}

function describe({ time, kind, text, remark }: TraceLine): string {
	return `${clock(time)} ${kind}${remark === undefined ? "" : ` (${remark})`}: ${text}`;
}

/** Copies a text. Loopback pages may use the clipboard. */
async function copy(text: string, what: string): Promise<void> {
	await navigator.clipboard.writeText(text);
	copied.value = what;
}
