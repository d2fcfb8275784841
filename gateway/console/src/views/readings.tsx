import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Plot } from "../parts/plot.js";
import { PictureView } from "../parts/result.js";
import { controlOf, parametersOf } from "../parts/schema-form.js";
import { visible, visibleLine } from "../parts/visible.js";
import { type Device, leavesIn, plain, type Series } from "../store/device.js";
import { now } from "../store/now.js";
import { ago, t } from "../texts/index.js";

/** Milliseconds between readings while they are followed. */
const FOLLOW_INTERVAL = 2_000;

interface ReadingsProps {
	readonly link: Device;
	/** Whether they are followed from the start. */
	readonly isFollowed?: boolean;
}

/** Values of the device's parts: numbers as plots, words beside them. */
export function Readings({ link, isFollowed = false }: ReadingsProps) {
	const isLive = useSignal(isFollowed);
	const { value: status } = link.status;
	const { value: follows } = isLive;
	useEffect(() => {
		const timer = setInterval(() => {
			if (follows && document.visibilityState === "visible") {
				void link.readStatus();
			}
		}, FOLLOW_INTERVAL);
		return () => clearInterval(timer);
	}, [link, follows]);
	if (link.statusTool.value === undefined) {
		return null;
	}
	return (
		<section class="card" aria-labelledby="readings">
			<div class="title-row">
				<h2 id="readings">{t("readings")}</h2>
				<label class="check">
					<input type="checkbox" checked={follows} onChange={() => (isLive.value = !follows)} />
					{t("live")}
				</label>
				<button type="button" class="quiet" onClick={() => void link.readStatus()}>
					{t("refresh")}
				</button>
			</div>
			<p class="facts">
				{wordsIn(status).map(([path, word]) => (
					<span key={path}>
						{visibleLine(path)} <b>{visibleLine(word)}</b>
					</span>
				))}
			</p>
			<div class="plots">
				{[...link.series.value].map(([name, series]) => (
					<Reading key={name} name={name} unit={unitOf(name, status)} series={series} />
				))}
			</div>
		</section>
	);
}

interface ReadingProps {
	readonly name: string;
	readonly unit: string;
	readonly series: Series;
}

function Reading({ name, unit, series }: ReadingProps) {
	const last = series.values.at(-1) ?? 0;
	const label = visibleLine(
		name
			.split(".")
			.filter((word) => word !== "value")
			.join(" "),
	);
	return (
		<figure class="reading">
			<figcaption>
				{label}{" "}
				<b>
					{Number.isInteger(last) ? last : last.toPrecision(4)}
					{visibleLine(unit)}
				</b>
			</figcaption>
			{series.values.some((value) => value !== last) && <Plot series={series} label={label} />}
		</figure>
	);
}

/** The words of a status, by their paths: the Wi-Fi's name, a theme. Units stand beside their numbers. */
function wordsIn(status: object): [string, string][] {
	return [...leavesIn(status)]
		.filter(([path, leaf]) => typeof leaf !== "number" && !/\.(unit|kind)$/.test(path))
		.map(([path, leaf]) => [path.replaceAll(".", " "), String(leaf)]);
}

/** The unit that stands beside a number: of "sensors.light.value", what "sensors.light.unit" says. */
function unitOf(name: string, status: object): string {
	const leaves = leavesIn(status);
	const parents = [name.replace(/\.[^.]*$/, ""), name.replace(/\.value\..*$/, "")];
	const unit = parents.map((parent) => leaves.get(`${parent}.unit`)).find((each) => typeof each === "string");
	return unit === undefined ? "" : ` ${unit}`;
}

/** Names of tools that take pictures. */
const PICTURE_TOOL = /(take_photo|snapshot)$/;

/** The last picture, and buttons for a new one. */
export function Pictures({ link }: { readonly link: Device }) {
	const problem = useSignal("");
	const isBusy = useSignal(false);
	const tools = (link.tools.value ?? []).filter(({ name }) => PICTURE_TOOL.test(plain(name)));
	if (tools.length === 0) {
		return null;
	}
	const take = async (index: number): Promise<void> => {
		const tool = tools[index] as (typeof tools)[number];
		const texts = parametersOf(tool).filter(
			({ name, schema, required }) => required && /text|area/.test(controlOf(name, schema)),
		);
		isBusy.value = true;
		const { result, error } = await link.call(
			tool.name,
			Object.fromEntries(texts.map(({ name }) => [name, t("question")])),
		);
		isBusy.value = false;
		const [first] = result?.content ?? [];
		const said = first?.type === "text" ? first.text : "";
		problem.value = error ?? (result?.isError || !result?.content.some(({ type }) => type === "image") ? said : "");
	};
	const { value: picture } = link.picture;
	return (
		<section class="card" aria-labelledby="pictures">
			<div class="title-row">
				<h2 id="pictures">{t("lastPicture")}</h2>
				{tools.map((tool, index) => (
					<button key={tool.name} type="button" disabled={isBusy.value} onClick={() => void take(index)}>
						{visibleLine(tool.title ?? tool.name)}
					</button>
				))}
			</div>
			{problem.value !== "" && <p class="problem">{visible(problem.value)}</p>}
			{picture ? (
				<figure>
					<PictureView key={picture.time} source={picture.source} label={t("picture")} />
					<figcaption class="muted">
						{visibleLine(picture.tool)} · {ago(picture.time, now.value)}
					</figcaption>
				</figure>
			) : (
				<p class="muted">{t("noPicture")}</p>
			)}
		</section>
	);
}
