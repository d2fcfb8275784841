import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listParts } from "xs-mcp/describe-parts";
import { loadTools } from "xs-mcp/moddable/boards";
import { notificationOf, type PartKind } from "xs-mcp-firmware/hardware/kinds/part-kind";
import { ALL_KINDS, DEVICE_EVENTS } from "xs-mcp-firmware/hardware/vocabulary";
import { controlsOf } from "xs-mcp-gateway/controls";
import { EVENT_TYPES } from "xs-mcp-gateway/event-types";
import { describeDevice, describeState } from "xs-mcp-gateway/home-assistant/discovery";
import { readEntities } from "xs-mcp-gateway/home-assistant/entities";
import { ask, type Occurrence, start } from "xs-mcp-gateway/testing/events";
import { connect } from "xs-mcp-gateway/testing/program";
import { NOTIFICATION_TYPES } from "xs-mcp-manager";
import { readingsOf, SENSORS } from "xs-mcp-virtual-device/sensors";
import { fakePart, fakeStatus, fireEvent } from "../host-test/doubles/fake-kind.js";
import { expectSection } from "../host-test/support/expect-generated.js";
import { until } from "../host-test/support/testing.js";

// Each kind of parts, and each event, in all that is derived from it. A new one has these tests without another edit.

const statusOf = (kind: PartKind) => ({ [kind.plural]: { it: fakeStatus(kind) } });

const tools = (await loadTools()).map(({ name }) => {
	const inputSchema = { type: "object" as const, properties: {} };
	return { name: name.replaceAll(".", "_"), inputSchema, annotations: { destructiveHint: false } };
});

for (const kind of ALL_KINDS) {
	const { name, event, tool } = kind;

	describe(`the kind ${name}`, () => {
		it("has an entity in Home Assistant and a control in the console, if a tool sets it", () => {
			const [first] = tool?.sets ?? [];
			const entities = readEntities(statusOf(kind), new Map());
			const server = { id: "k", alias: "a", title: undefined, board: { name: "lamp", version: "1" } };
			const described = describeDevice(server, entities, () => true, false, "gateway");
			const { components } = described as { components: Record<string, { platform: string }> };
			const { platform } = components[`${name}_it`] ?? {};
			const controls = controlsOf(tools, statusOf(kind)).filter((control) => control.kind === name);
			if (first === undefined) {
				assert.deepEqual(controls, []);
				return;
			}
			assert.ok(platform !== undefined, `${name} has no entity`);
			assert.ok(platform === "light" || `${name}_it` in describeState(entities, "idle"), "its state is published");
			const [{ inputs = [] } = {}] = controls;
			assert.deepEqual(
				inputs.map((each) => each.name),
				tool?.sets,
			);
			const value = fakeStatus(kind)[first];
			assert.deepEqual(inputs[0]?.callFor?.(value), {
				tool: tool?.name.replaceAll(".", "_"),
				args: { [tool?.part ?? ""]: "it", [first]: value },
			});
		});

		if (event !== undefined) {
			it("is recorded by the gateway, for clients that ask for its event by the filters", async (t) => {
				const { side, device } = await start(t);
				const client = await connect(t, side);
				const known = DEVICE_EVENTS.find((each) => each.kind === kind) ?? assert.fail();
				const params = fireEvent(kind, { ...fakePart(kind), [event.by]: () => {} });
				const equal = Object.entries(known.filters).filter(([, { crosses }]) => crosses === undefined);
				const filters = Object.fromEntries(equal.map(([filter]) => [filter, params[filter]]));
				const query = { name: known.name, arguments: filters };
				const { cursor } = await ask(client, "events/poll", { ...query, cursor: null });
				device.notify(notificationOf(known.name), params);
				let events: readonly Occurrence[] = [];
				await until(async () => {
					({ events } = await ask(client, "events/poll", { ...query, cursor }));
					return events.length > 0;
				}, "recorded");
				assert.deepEqual(events[0]?.data, { device: "lamp_000001", ...params });
			});
		}
	});
}

it("each event of a device has a type at the gateway, and one of the manager's notifications", () => {
	for (const { name, notification } of DEVICE_EVENTS) {
		assert.ok(
			EVENT_TYPES.some((type) => type.name === name),
			name,
		);
		assert.ok(NOTIFICATION_TYPES.includes(notification.slice("notifications/".length)), notification);
	}
});

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(", ");
const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`.replaceAll("  ", " ");
const table = (head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
	[head, head.map(() => "---"), ...rows].map((cells) => row(...cells));

it("docs/parts.md lists each part with its options, and each kind with its values, tool and event", () => {
	const parts = listParts().map(({ name, options, tool }) => [
		code(name),
		codes(options),
		tool === undefined ? "none" : code(tool),
	]);
	expectSection("docs/parts.md", "parts", table(["part", "options", "tool"], parts));
	const kinds = ALL_KINDS.map(({ plural, status, event }) => [
		code(plural),
		codes(status.map(({ name }) => name)),
		event === undefined
			? ""
			: `${code(notificationOf(event.name))} {${codes([...event.data].map(({ name }) => name))}}`,
	]);
	expectSection("docs/parts.md", "kinds", table(["parts", "values in the status", "notification"], kinds));
});

/** Readings with the same unit share it, and x, y and z of one name are a word: `gyroscope_{x,y,z} (°/s)`. */
const listReadings = (readings: readonly [name: string, unit: string | undefined][]): string =>
	readings
		.map(([name, unit], at) => {
			const isShared = unit !== undefined && readings[at + 1]?.[1] === unit;
			return unit === undefined || isShared ? name : `${name} (${unit})`;
		})
		.join(", ")
		.replace(/\b(\w+_)x, \1y, \1z\b/g, "$1{x,y,z}");

it("docs/parts.md lists each driver of a sensor with its readings and its place, and the faults of some", () => {
	const drivers = Object.entries(SENSORS).map(([name, { io, address, isOwn }]) => {
		const readings = Object.entries(readingsOf(name.slice(name.indexOf("/") + 1)));
		const place =
			address === undefined
				? { bus: "", analog: "`pin`", pulsewidth: "`pin`, `trigger`", onewire: "`pin`", dht: "`pin`" }[io]
				: `0x${address.toString(16)}`;
		return [isOwn ? `**${name}**` : name, listReadings(readings.map(([reading, { unit }]) => [reading, unit])), place];
	});
	expectSection("docs/parts.md", "sensors", table(["embedded:sensor/…", "readings", "address or pin"], drivers));
	const faults = new Map<string, string[]>();
	for (const [name, { fault }] of Object.entries(SENSORS)) {
		if (fault !== undefined) {
			faults.set(fault, [...(faults.get(fault) ?? []), name.slice(name.indexOf("/") + 1)]);
		}
	}
	expectSection(
		"docs/parts.md",
		"faults",
		[...faults].map(([fault, names]) => `- ${names.join(", ")}: ${fault}`),
	);
});

it("docs/gateway/events.md lists each type of events with its own arguments", () => {
	const common = ["device", "tag", "pause"];
	const types = EVENT_TYPES.map(({ name, description, input }) => {
		const own = Object.keys(input.shape).filter((argument) => !common.includes(argument));
		return `- ${code(name)}${own.length === 0 ? "" : ` {${codes(own)}}`}: ${description}`;
	});
	expectSection("docs/gateway/events.md", "types", types);
});
