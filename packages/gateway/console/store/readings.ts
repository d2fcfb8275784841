import { CONTROLLED, partsIn } from "./controls.js";
import { isObject, type Leaf, leavesIn } from "./device.js";

/** Something that a device measures. */
export interface Reading {
	/** Its path in the status: the name of its series. */
	readonly path: string;
	/** The measured quantity, such as "temperature"; empty if unknown. */
	readonly kind: string;
	/** The sensor's name for people; undefined: its name in the code, in `name`. */
	readonly title?: string | undefined;
	readonly name: string;
	/** Which of several values: "x". */
	readonly member?: string;
	readonly value: number | boolean | undefined;
	readonly unit: string;
	readonly error?: string;
}

/** The members of a status whose kinds and units are known. */
const KNOWN: Readonly<Record<string, { readonly kind: string; readonly unit: string }>> = {
	"battery.level": { kind: "battery", unit: "%" },
	"chip.temperature": { kind: "chip", unit: "°C" },
};

/** The kind of a sensor that measures several things: the members of its values are their kinds. */
const COMBINED = "combined";

/**
 * The values of a status that no control shows: sensors, then other numbers; and words.
 *
 * @param shown the paths that controls show
 */
export function readingsIn(status: object, shown: ReadonlySet<string>) {
	const leaves = leavesIn(status);
	const isSaid = (path: string): boolean => shown.has(path) || (path === "network.type" && leaves.has("network.ssid"));
	const isPart = (path: string): boolean => ["sensors", ...CONTROLLED].includes(path.split(".")[0] as string);
	const others = [...leaves].filter(([path]) => !isPart(path) && !isSaid(path));
	const isNumber = (entry: readonly [string, Leaf]): entry is [string, number] => typeof entry[1] === "number";
	const numbers = others.filter(isNumber).map(([path, value]): Reading => {
		const { kind = "", unit = "" } = KNOWN[path] ?? {};
		return { path, kind, name: kind || path, value, unit };
	});
	return {
		readings: [...partsIn(status, "sensors").flatMap(([name, sensor]) => ofSensor(name, sensor)), ...numbers],
		facts: others.filter((entry) => !isNumber(entry)),
	};
}

function ofSensor(name: string, { kind, title, value, unit, error }: Readonly<Record<string, unknown>>): Reading[] {
	const known = { kind: String(kind ?? ""), name, title: typeof title === "string" ? title : undefined };
	const path = `sensors.${name}.value`;
	if (!isObject(value)) {
		const failed = typeof error === "string" && { error };
		return [{ ...known, path, value: measured(value), unit: typeof unit === "string" ? unit : "", ...failed }];
	}
	return Object.entries(value).map(([member, each]) => {
		const own = isObject(unit) ? unit[member] : unit;
		return {
			...known,
			...(kind === COMBINED && { kind: member }),
			member,
			path: `${path}.${member}`,
			value: measured(each),
			unit: typeof own === "string" ? own : "",
		};
	});
}

function measured(value: unknown): number | boolean | undefined {
	return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}
