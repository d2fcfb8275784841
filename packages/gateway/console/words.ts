// Names and values of a device's parts, as a person says them.
import type { Tool } from "@modelcontextprotocol/client";
import { READING_VIEWS } from "xs-mcp-firmware/hardware/reading-views";
import type { DeviceDetail } from "../src/console/fleet.js";
import { type Control, type ControlInput, type Reading, titleOf, unitOfInput } from "./store/controls.js";
import { isObject, type Leaf, objectIn } from "./store/device.js";
import { language, stateText, t, textOf, visibleLine } from "./texts.js";

/** The name of a control. A device's only light is "Light", regardless of its name in the code. */
export function controlName({ kind, key, title, name }: Control, all: readonly Control[]): string {
	const isOnlyLight = kind === "light" && all.every((other) => other.kind !== "light" || other.key === key);
	const known = kind === "setting" || kind === "action" ? textOf(`control_${name}`) : isOnlyLight && t("part_light");
	return known && (kind !== "light" || title === undefined) ? known : visibleLine(title ?? spaced(name));
}

/** The name of one of several values of a control: "Brightness". */
export function inputName({ name }: ControlInput): string {
	return textOf(`input_${name}`) ?? visibleLine(spaced(name));
}

/** A value that is set, with its unit. */
export function inputValue(input: ControlInput, value: unknown): string {
	const isNumber = typeof value === "number";
	return isNumber ? withUnit(value.toLocaleString(language.value), unitOfInput(input)) : String(value ?? "–");
}

/** One of the values that can be chosen. */
export function optionText(parameter: string, option: string | number): string {
	return textOf(`${parameter}_${option}`) ?? visibleLine(String(option));
}

/** The name of a reading: "Temperature", "Acceleration x". */
export function readingName({ kind, title, name, member, value }: Reading): string {
	// Whether something moves, or how fast.
	const meant = kind === "motion" && typeof value === "number" ? "acceleration" : kind;
	const kindText = textOf(`kind_${meant}`) ?? spaced(kind);
	const own = title ?? (name === kind && member !== kind ? kindText : factName(name));
	const which = member === kind ? kindText : member;
	return visibleLine(which === undefined ? own : `${own} ${which}`);
}

/** The name of a type of events: "Button". */
export function eventName(name: string): string {
	return textOf(`event_${name.replace(".", "_")}`) ?? visibleLine(spaced(name));
}

/** The data of an event in words: "soil 41 %", "boot long". */
export function eventText({
	kind: _kind,
	previous: _previous,
	unit = "",
	...data
}: DeviceDetail["events"][number]["data"]): string {
	const step = textOf(`firmware_${data.step}`);
	if (step !== undefined) {
		return step.replace("{version}", visibleLine(String(data.version ?? "")));
	}
	const words = Object.entries(data).flatMap(([name, value]) => {
		if (name === "ok" && value === false) {
			return t("failed");
		}
		if (typeof value === "boolean") {
			return name === "on" ? t(value ? "on" : "off").toLowerCase() : value ? name : [];
		}
		if (typeof value === "number") {
			return withUnit(decimal(value), String(unit));
		}
		const cause = name === "cause" && textOf(`cause_${value}`);
		if (cause) {
			return `(${cause})`;
		}
		return name === "state" ? stateText(String(value)) : String(isObject(value) ? JSON.stringify(value) : value);
	});
	return visibleLine(words.join(" "));
}

/** Arguments or an answer in words: "volume 30, on yes". Text that is no JSON object stays; "…" is for nested or cut JSON. */
export function callText(text: string): string {
	if (!text.startsWith("{")) {
		return visibleLine(text);
	}
	const data = objectIn({ content: [{ type: "text", text }] });
	const values = Object.entries(data ?? { cut: {} });
	if (values.some(([, value]) => typeof value === "object")) {
		return "…";
	}
	const words = values.map(([name, value]) => `${name} ${typeof value === "boolean" ? yesOrNo(value) : value}`);
	return visibleLine(words.join(", "));
}

/** The title of a tool. Titles of the firmware and of its family have translations. */
export function toolTitle({ name = "", ...tool }: Partial<Tool>): string {
	const title = titleOf(tool) ?? name;
	return textOf(`tool_${title.toLowerCase().replaceAll(/[^a-z]+/g, "_")}`) ?? visibleLine(title);
}

/** A measured value: "21.5 °C", "open". */
export function readingValue({ kind, value, unit }: Reading): string {
	if (value === undefined) {
		return "–";
	}
	if (typeof value === "boolean") {
		const words = READING_VIEWS[kind]?.words ?? ["yes", "no"];
		return t(`binary_${words[value ? 0 : 1]}`);
	}
	// Weather reports use hectopascal.
	const isPascal = unit === "Pa";
	return withUnit(numberText(isPascal ? value / 100 : value, kind), visibleLine(isPascal ? "hPa" : unit));
}

/** Returns the name of another value of a status: "Wi-Fi" for "network.ssid". "screen.theme" is named like the tool `screen.set_theme`. */
export function factName(path: string): string {
	const known = textOf(`fact_${path.replaceAll(".", "_")}`) ?? textOf(`control_${path.replace(".", "_set_")}`);
	return known ?? visibleLine(spaced(path));
}

/** The text of another value of a status. */
export function factValue(path: string, value: Leaf): string {
	if (typeof value === "boolean") {
		return yesOrNo(value);
	}
	return (path === "network.signal" && textOf(`signal_${value}`)) || optionText(path.replace(/.*\./, ""), value);
}

function yesOrNo(value: boolean): string {
	return t(value ? "binary_yes" : "binary_no");
}

function numberText(value: number, kind: string): string {
	const digits = READING_VIEWS[kind]?.decimals;
	if (digits === undefined) {
		return decimal(value);
	}
	// No "-0".
	const shown = Math.abs(value) < 0.5 / 10 ** digits ? 0 : value;
	return shown.toLocaleString(language.value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A number with at most four digits. */
export function decimal(value: number): string {
	return value.toLocaleString(language.value, { maximumSignificantDigits: 4 });
}

/** "21.5 °C" */
export function withUnit(text: string, unit: string): string {
	return unit === "" || unit === "°" ? `${text}${unit}` : `${text}\u00a0${unit}`;
}

/** "living_room.lamp" is "Living room lamp". */
function spaced(name: string): string {
	const words = name.replace(/[._-]+/g, " ").trim();
	return words.charAt(0).toUpperCase() + words.slice(1);
}
