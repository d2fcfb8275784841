import type { Tool } from "@modelcontextprotocol/client";
import type { ReadonlySignal } from "@preact/signals";
import { ConfirmDialog } from "../parts/confirm.js";
import { visibleLine } from "../parts/visible.js";
import type { Device } from "../store/device.js";
import { stateText, t } from "../texts/index.js";
import { Pictures, Readings } from "../views/readings.js";
import { isSetAtOnce, knownValues, ToolCard } from "../views/tool-card.js";

interface PanelProps {
	readonly device: Device;
	readonly state: ReadonlySignal<string>;
}

/** A device beside a result in a chat: its state, its sliders, its last picture, its readings. */
export function Panel({ device, state }: PanelProps) {
	// A control needs a value of the status to stand beside.
	const isKnown = (tool: Tool): boolean =>
		Object.values(knownValues(tool, device)).every((value) => value !== undefined);
	const tools = (device.tools.value ?? []).filter((tool) => isSetAtOnce(tool) && isKnown(tool));
	return (
		<main class="panel">
			<div class="title-row">
				<h1>{visibleLine(device.alias)}</h1>
				{state.value !== "" && <span class="tag">{stateText(state.value)}</span>}
			</div>
			<div class="columns">
				{tools.length > 0 && (
					<section class="tools card" aria-label={t("tools")}>
						{tools.map((tool) => (
							<ToolCard key={tool.name} link={device} tool={tool} />
						))}
					</section>
				)}
				<div class="side">
					<Pictures link={device} />
					<Readings link={device} isFollowed />
				</div>
			</div>
			<ConfirmDialog />
		</main>
	);
}
