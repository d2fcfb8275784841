import type { MemberType, PartKind } from "../../src/hardware/kinds/part-kind.js";

/** A value of each type in a part, and the same on the wire. */
const VALUES: Readonly<Record<MemberType, readonly [inPart: unknown, onWire: unknown]>> = {
	any: [{ a: 1 }, { a: 1 }],
	boolean: [true, true],
	color: [0xff8000, "#ff8000"],
	integer: [5, 5],
	number: [2.5, 2.5],
	reading: [21.5, 21.5],
	string: ["text", "text"],
	unit: ["°C", "°C"],
};

/** A part of a kind: each member that the kind names has a value of its type. */
export function fakePart({ status, event }: PartKind): Record<string, unknown> {
	const members = status.map(({ name, type, from = name }) => {
		const [value] = VALUES[type];
		return [from, type === "reading" ? () => value : value] as const;
	});
	const own = event?.data
		.filter(({ at }) => at === undefined)
		.map(({ name, type }) => [name, VALUES[type][0]] as const);
	return { ...Object.fromEntries([...(own ?? []), ...members]), title: "A part" };
}

/** Describes the part of {@link fakePart} as the status of a device has it. */
export function fakeStatus({ status }: PartKind): Record<string, unknown> {
	return { title: "A part", ...Object.fromEntries(status.map(({ name, type }) => [name, VALUES[type][1]])) };
}

/** Makes the event of a part of {@link fakePart}, which has the name `it`. Returns the params of its notification. */
export function fireEvent({ name, event }: PartKind, part: Record<string, unknown>): Record<string, unknown> {
	const { by, data } = event as NonNullable<PartKind["event"]>;
	const values: unknown[] = [];
	for (const { type, at } of data) {
		if (at !== undefined) {
			values[at] = VALUES[type][0];
		}
	}
	const params = data.map((member) => [member.name, VALUES[member.type][1]]);
	// A button has one argument with both values.
	const args = values.length > 0 ? values : [Object.fromEntries(params)];
	(part[by] as (...args: readonly unknown[]) => void)(...args);
	return { [name]: "it", ...Object.fromEntries(params) };
}
