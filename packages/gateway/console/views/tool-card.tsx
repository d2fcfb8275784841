import type { Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import { leafFor } from "../store/controls.js";
import { type Device, leavesIn, type Outcome } from "../store/device.js";
import { session } from "../store/session.js";
import { t } from "../texts.js";
import { toolTitle } from "../words.js";
import { Badge, Button, Copy, confirm, Form } from "./basics.js";
import { asCommand, asJson, asTypeScript } from "./copies.js";
import { Result } from "./result.js";
import { parametersOf } from "./schema.js";
import { Field, type Values } from "./schema-form.js";
import { visible, visibleLine } from "./visible.js";

interface ToolCardProps {
	readonly link: Device;
	readonly tool: Tool;
}

/** A tool as a form, and what it returned last. */
export function ToolCard({ link, tool }: ToolCardProps) {
	const parameters = parametersOf(tool);
	const chosen = useSignal<Values>({});
	const values: Values = { ...knownValues(tool, link), ...chosen.value };
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
				<code>{visibleLine(tool.name)}</code>
				<Hints tool={tool} />
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

function Hints({ tool: { annotations = {} } }: { readonly tool: Tool }) {
	const { readOnlyHint, audience } = annotations as { readOnlyHint?: boolean; audience?: readonly string[] };
	const isDangerous = isDestructive({ annotations } as Tool);
	return (
		<span class="hstack hints">
			{readOnlyHint && <Badge>{t("hint_reads")}</Badge>}
			{isDangerous && <Badge variant="warning">{t("hint_destroys")}</Badge>}
			{Array.isArray(audience) && !audience.includes("assistant") && <Badge>{t("hint_user")}</Badge>}
		</span>
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

/** Defaults, and what the device's status says of required parameters. */
function knownValues(tool: Tool, link: Device): Values {
	const leaves = leavesIn(link.status.value);
	return Object.fromEntries(
		parametersOf(tool).map(({ name, schema, required }) => [
			name,
			schema.default ?? (required ? leafFor(leaves, tool.name, name)?.[1] : undefined),
		]),
	);
}

function given(values: Values): Record<string, unknown> {
	return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
