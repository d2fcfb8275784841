import type { Tool } from "@modelcontextprotocol/client";
import { useSignal } from "@preact/signals";
import { controlsOf, readingsIn } from "../store/controls.js";
import { type Device, PICTURE_TOOL, plain, saidBy } from "../store/device.js";
import { ago, t, visible, visibleLine } from "../texts.js";
import { factName, factValue, readingName, readingValue, toolTitle } from "../words.js";
import { Button, Card } from "./basics.js";
import { Plot } from "./plot.js";
import { controlOf, parametersOf } from "./schema.js";
import { PictureView } from "./tool-card.js";

/** Shows measured values: numbers with plots, then texts. */
export function Readings({ link }: { readonly link: Device }) {
	const { value: status } = link.status;
	if (link.statusTool.value === undefined) {
		return null;
	}
	const inputs = controlsOf(link.tools.value ?? [], status).flatMap((control) => control.inputs);
	const { readings, facts } = readingsIn(status, new Set(inputs.flatMap(({ path }) => path ?? [])));
	return (
		<Card title={t("readings")} kind="readings">
			<div class="plots">
				{readings.map((reading) => {
					const name = readingName(reading);
					const series = link.series.value.get(reading.path);
					const isPlotted = series?.values.some((value) => value !== series.values[0]);
					return (
						<figure key={reading.path} class="reading">
							<figcaption class="text-light">
								{name} <b>{readingValue(reading)}</b>
							</figcaption>
							{reading.error !== undefined && <small class="bad-text">{visible(reading.error)}</small>}
							{series && isPlotted && <Plot series={series} label={name} unit={reading.unit} />}
						</figure>
					);
				})}
			</div>
			<p class="hstack facts text-light">
				{facts.map(([path, fact]) => (
					<span key={path}>
						{factName(path)} <b>{factValue(path, fact)}</b>
					</span>
				))}
			</p>
		</Card>
	);
}

/** The last picture, and buttons for a new one. */
export function Pictures({ link }: { readonly link: Device }) {
	const problem = useSignal("");
	const isBusy = useSignal(false);
	const tools = (link.tools.value ?? []).filter(({ name }) => PICTURE_TOOL.test(plain(name)));
	if (tools.length === 0) {
		return null;
	}
	const take = async (tool: Tool): Promise<void> => {
		const texts = parametersOf(tool).filter(
			({ name, schema, required }) => required && /text|area/.test(controlOf(name, schema)),
		);
		isBusy.value = true;
		const args = Object.fromEntries(texts.map(({ name }) => [name, t("question")]));
		const outcome = await link.call(tool.name, args);
		isBusy.value = false;
		const { text, isBad } = saidBy(outcome);
		const hasPicture = outcome.result?.content.some(({ type }) => type === "image");
		problem.value = isBad || !hasPicture ? text : "";
	};
	const { value: picture } = link.picture;
	return (
		<Card
			title={t("lastPicture")}
			aside={tools.map((tool) => (
				<Button key={tool.name} disabled={isBusy.value} onClick={() => take(tool)} text={toolTitle(tool)} />
			))}
		>
			{problem.value !== "" && <p class="bad-text">{visible(problem.value)}</p>}
			{picture ? (
				<figure>
					<PictureView key={picture.time} source={picture.source} label={t("picture")} />
					<figcaption class="text-light">
						{visibleLine(picture.tool)} · {ago(picture.time)}
					</figcaption>
				</figure>
			) : (
				<p class="text-light">{t("noPicture")}</p>
			)}
		</Card>
	);
}
