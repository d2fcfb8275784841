import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import { leafFor } from "../store/controls.js";
import { type Device, leavesIn, membersOf, type Outcome, objectIn, pictureSource } from "../store/device.js";
import { session } from "../store/session.js";
import { t, visible, visibleLine } from "../texts.js";
import { toolTitle } from "../words.js";
import { Badge, Button, Copy, confirm, Form, Snippet } from "./basics.js";
import { asCommand, asJson, asTypeScript } from "./copies.js";
import { parametersOf } from "./schema.js";
import { Field, type Values } from "./schema-form.js";

type Block = CallToolResult["content"][number];

const MAX_ROWS = 200;

/** The result of a call, for a person and as JSON. */
function Result({ outcome: { result, error, duration } }: { readonly outcome: Outcome }) {
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
					<Snippet text={JSON.stringify(result, undefined, 2)} shown={visible(JSON.stringify(result, cutMedia, 2))} />
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
	const rows = membersOf(value).slice(0, MAX_ROWS);
	return (
		<table class="members">
			<tbody>
				{rows.map(([path, member]) => (
					<tr key={path.join("\n")}>
						<th scope="row">{visibleLine(path.join(" › "))}</th>
						<td>{visible(typeof member === "string" ? member : JSON.stringify(member))}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

/** Pictures and sound are not written out. */
function cutMedia(key: string, value: unknown): unknown {
	return (key === "data" || key === "blob") && typeof value === "string" && value.length > 100
		? `${value.slice(0, 40)}… (${value.length})`
		: value;
}

interface ToolCardProps {
	readonly link: Device;
	readonly tool: Tool;
}

/** A tool as a form, and what it returned last. */
export function ToolCard({ link, tool }: ToolCardProps) {
	const parameters = parametersOf(tool);
	const annotations: Readonly<Record<string, unknown>> = { ...tool.annotations };
	const chosen = useSignal<Values>({});
	const leaves = leavesIn(link.status.value);
	// Defaults, and values of required parameters in the device's status.
	const known = parameters.map(({ name, schema, required }) => [
		name,
		schema.default ?? (required ? leafFor(leaves, tool.name, name)?.[1] : undefined),
	]);
	const values: Values = { ...Object.fromEntries(known), ...chosen.value };
	const outcome = useSignal<Outcome | undefined>(undefined);
	const progress = useSignal<string | undefined>(undefined);
	const title = toolTitle(tool);
	const call = async (): Promise<void> => {
		if (isDestructive(tool) && !(await confirm(t("confirmCall", { tool: title }), t("call")))) {
			return;
		}
		progress.value = "";
		const args = given({ ...values, ...chosen.value });
		outcome.value = await link.call(tool.name, args, (text) => (progress.value = text));
		progress.value = undefined;
		if (tool.annotations?.readOnlyHint !== true) {
			await link.readStatus();
		}
	};
	return (
		<details class="tool">
			<summary>
				<span>{title}</span>
				<code class="text-light">{visibleLine(tool.name)}</code>
				<span class="hstack hints">
					{annotations.readOnlyHint && <Badge>{t("hint_reads")}</Badge>}
					{isDestructive(tool) && <Badge variant="warning">{t("hint_destroys")}</Badge>}
					{Array.isArray(annotations.audience) && !annotations.audience.includes("assistant") && (
						<Badge>{t("hint_user")}</Badge>
					)}
				</span>
			</summary>
			<p class="text-light description">{visible(tool.description ?? "")}</p>
			<Form onSubmit={call}>
				{parameters.map(({ name, schema, required }) => (
					<Field
						key={name}
						id={`${tool.name}-${name}`}
						label={name}
						schema={schema}
						required={required}
						value={values[name]}
						onChange={(value) => (chosen.value = { ...chosen.value, [name]: value })}
					/>
				))}
				<div class="hstack">
					<Button
						type="submit"
						{...(isDestructive(tool) && { "data-variant": "danger" })}
						disabled={
							progress.value !== undefined ||
							parameters.some(({ name, required }) => required && values[name] === undefined)
						}
						text={t("call")}
					/>
					{session.value && link.alias !== "" && <Copies link={link} tool={tool} args={given(values)} />}
				</div>
			</Form>
			{progress.value !== undefined && (
				<p class="text-light">{progress.value === "" ? t("calling") : visible(progress.value)}</p>
			)}
			{outcome.value && <Result outcome={outcome.value} />}
		</details>
	);
}

function Copies({ link, tool, args }: ToolCardProps & { readonly args: Record<string, unknown> }) {
	const call = { url: session.value?.urls.clients ?? "", device: link.alias, tool: tool.name, args };
	return (
		<span class="hstack copies">
			<span class="text-light">{t("copyAs")}</span>
			<Copy text={asCommand(call)} label="CLI" />
			<Copy text={asJson(call)} label="MCP JSON" />
			<Copy text={asTypeScript(call)} label="TypeScript" />
		</span>
	);
}

/** Clients assume the worst of a tool without hints; the gateway adds the hints that it knows. */
function isDestructive({ annotations }: Tool): boolean {
	return annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false;
}

function given(values: Values): Record<string, unknown> {
	return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
