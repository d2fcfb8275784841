import type { Feature } from "../../core/listener.js";
import { SettingError } from "../../core/settings/read-setting.js";
import type { Hardware } from "../../hardware/hardware.js";
import type { DeviceDefinition } from "../../hardware/parts/device.js";
import type { PartHandler } from "../../hardware/parts/handlers.js";
import { Reaction, Reactions } from "./reactions.js";
import { StoredRules } from "./stored-rules.js";
import { parseTimeZone } from "./time-zone.js";

/**
 * What the device does by itself: the handlers of its maker, and the rules that clients set.
 *
 * @param findDevice returns undefined if the build defines no device of its own
 */
export const rulesFeature = (findDevice: () => DeviceDefinition | undefined): Feature => ({
	name: "rules",
	after: ["parts"],
	start(app) {
		const { settings } = app.board;
		const name = app.setting("timezone");
		const zone = parseTimeZone(name);
		if (name !== "" && zone === undefined) {
			throw new SettingError(
				"timezone",
				`expected a time zone such as CET-1CEST,M3.5.0,M10.5.0/3, got ${JSON.stringify(name)}`,
			);
		}
		const reactions = new Reactions(app, zone);
		for (const handler of findDevice()?.handlers ?? []) {
			reactions.add(new HandlerReaction(handler));
		}
		app.listen(reactions);
		if (settings !== undefined) {
			app.listen(new StoredRules(app, settings, reactions));
		}
	},
});

/** A handler of the device's maker. */
class HandlerReaction extends Reaction {
	private readonly handler: PartHandler;

	constructor(handler: PartHandler) {
		super(handler);
		this.handler = handler;
	}

	act(hardware: Hardware, event: object): unknown {
		return this.handler.handle(hardware, event);
	}
}
