import type { CallToolResult } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import { type Outcome, objectIn, pictureSource } from "../store/device.js";
import { t } from "../texts.js";
import { Snippet } from "./basics.js";
import { visible, visibleLine } from "./visible.js";

type Block = CallToolResult["content"][number];

const MAX_ROWS = 200;

/** The result of a call, for a person and as JSON. */
export function Result({ outcome: { result, error, duration } }: { readonly outcome: Outcome }) {
	const isBad = error !== undefined || result?.isError === true;
	const value = result && !result.isError ? objectIn(result) : undefined;
	return (
		<div class={`result ${isBad ? "bad" : ""}`} role="status">
			<p class="hstack">
				<span class={`dot ${isBad ? "warn" : "good"}`} aria-hidden="true" />
				{t(isBad ? "callFailed" : "callDone", { duration })}
			</p>
			{error !== undefined && <pre>{visible(error)}</pre>}
			{value ? <Table value={value} /> : result?.content?.map((block, index) => <Content key={index} block={block} />)}
			{result && (
				<details>
					<summary>JSON</summary>
					<Snippet text={JSON.stringify(result, undefined, 2)} shown={visible(shortened(result))} />
				</details>
			)}
		</div>
	);
}

function Content({ block }: { readonly block: Block }) {
	switch (block.type) {
		case "text":
			return <pre>{visible(block.text)}</pre>;
		case "image":
			return <PictureView key={block.data} source={pictureSource(block)} label={t("picture")} />;
		case "audio": {
			const isKnown = /^audio\/[a-z0-9.+-]+$/.test(block.mimeType);
			// biome-ignore lint/a11y/useMediaCaption: a device's sound has none
			return isKnown ? <audio controls src={`data:${block.mimeType};base64,${block.data}`} /> : <p>{t("notShown")}</p>;
		}
		case "resource_link":
			return (
				<p>
					{visibleLine(block.name)} <code>{visibleLine(block.uri)}</code>
				</p>
			);
		case "resource":
			return <pre>{"text" in block.resource ? visible(block.resource.text) : visibleLine(block.resource.uri)}</pre>;
	}
}

/** A picture, or a note that its data is not a picture. */
export function PictureView({ source, label }: { readonly source: string; readonly label: string }) {
	const isBroken = useSignal(source === "");
	return isBroken.value ? (
		<p class="bad-text">{t("notAPicture")}</p>
	) : (
		<img class="picture" src={source} alt={label} onError={() => (isBroken.value = true)} />
	);
}

/** The members of an object, those of objects in it by their paths. */
function Table({ value }: { readonly value: object }) {
	const rows = flatten(value).slice(0, MAX_ROWS);
	return (
		<table class="members">
			<tbody>
				{rows.map(([path, member]) => (
					<tr key={path}>
						<th scope="row">{visibleLine(path)}</th>
						<td>{visible(member)}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

function flatten(value: object, path: readonly string[] = []): [string, string][] {
	return Object.entries(value).flatMap(([key, member]): [string, string][] => {
		const here = [...path, key];
		const isObject = typeof member === "object" && member !== null && Object.keys(member).length > 0;
		if (isObject && path.length < 5) {
			return flatten(member as object, here);
		}
		return [[here.join(" › "), typeof member === "string" ? member : JSON.stringify(member)]];
	});
}

/** A result as JSON, in which pictures and sound are not written out. */
function shortened(result: CallToolResult): string {
	const cut = (key: string, value: unknown): unknown =>
		(key === "data" || key === "blob") && typeof value === "string" && value.length > 100
			? `${value.slice(0, 40)}… (${value.length})`
			: value;
	return JSON.stringify(result, cut, 2);
}
