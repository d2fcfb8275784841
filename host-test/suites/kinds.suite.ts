import { PART_KINDS } from "../../src/hardware/kinds/index.js";
import { notificationOf, type PartKind } from "../../src/hardware/kinds/part-kind.js";
import { KINDS_WITH_RULES, rule } from "../../src/hardware/rules.js";
import { ALL_KINDS } from "../../src/hardware/vocabulary.js";
import type { Wire } from "../doubles/client.js";
import { clientOf, TOOLS, words } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { fakePart, fakeStatus, fireEvent } from "../doubles/fake-kind.js";
import { inSession } from "../doubles/started-application.js";
import { equal, ok, suite } from "../harness.js";

/** Reads the status of a device that has a part of a kind. */
const statusWith = (kind: PartKind, others: object = {}): unknown => {
	const board = { [kind.plural]: { it: fakePart(kind) }, ...others };
	return JSON.parse(words(clientOf(board).call("self.get_device_status")));
};

export default suite("kinds of parts", {
	"have their parts in the status, and in its schema"() {
		const client = clientOf({});
		client.initialize("2025-11-25");
		const { tools } = client.ask("tools/list").result;
		const tool = tools.find(({ name }: Wire) => name === "self.get_device_status");
		const listed = Object.keys(tool.outputSchema.properties);
		for (const kind of PART_KINDS.filter(({ status }) => status.length > 0)) {
			equal(statusWith(kind), { [kind.plural]: { it: fakeStatus(kind) } });
			ok(listed.includes(kind.plural), kind.plural);
		}
	},
	"of a feature are in the status if the feature adds them"() {
		equal(statusWith(rule), {});
		equal(statusWith(rule, { ruleBook: { statusKinds: KINDS_WITH_RULES } }), { rules: { it: fakeStatus(rule) } });
	},
	"have a status that leaves out a chip's thermometer which does not answer"() {
		equal(statusWith(rule, { thermometer: { temperature: undefined } }), {});
	},
	"have a tool with the arguments that they name, which is offered with such a part alone"() {
		for (const { name, plural, status, tool } of ALL_KINDS.filter((kind) => kind.tool !== undefined)) {
			const found = TOOLS.find((each) => each.name === tool?.name);
			equal(found?.needs[0], plural, name);
			const args = found?.members.map((member) => member.name) ?? [];
			for (const argument of [tool?.part, ...(tool?.sets ?? [])]) {
				ok(args.includes(argument as string), `${tool?.name}: ${argument}`);
			}
			ok(tool?.sets?.every((set) => status.some((member) => member.name === set)) !== false, name);
		}
	},
	"notify the backend of their events"() {
		for (const kind of PART_KINDS.filter(({ event }) => event !== undefined)) {
			const it = fakePart(kind);
			const { mcp } = inSession(Object.assign(new FakeBoard(), { [kind.plural]: { it } }));
			mcp();
			const params = fireEvent(kind, it);
			const method = notificationOf(kind.event?.name ?? "");
			const { payload } = mcp()[0] as { readonly payload: object };
			equal(payload, { jsonrpc: "2.0", method, params });
		}
	},
});
