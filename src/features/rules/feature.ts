import type { Application } from "../../core/application.js";
import type { Feature } from "../../core/listener.js";
import type { Hardware } from "../../hardware/hardware.js";
import type { DeviceDefinition } from "../../hardware/parts/device.js";
import type { PartHandler } from "../../hardware/parts/handlers.js";
import { inBuild } from "../../platform/in-build.js";
import { Reaction, Reactions } from "./reactions.js";
import { StoredRules } from "./stored-rules.js";
import { readTimeZone, type TimeZone } from "./time-zone.js";

/**
 * Runs the device's own reactions: the handlers of its maker, and the rules that clients set.
 *
 * @param findDevice returns undefined if the build defines no device
 */
export const rulesFeature = (findDevice: () => DeviceDefinition | undefined): Feature => ({
	name: "rules",
	after: ["parts"],
	start(app) {
		// An invalid time zone does not stop the device.
		let zone: TimeZone | undefined = () => 0;
		try {
			zone = readTimeZone(app.setting("timezone"));
		} catch (error) {
			app.log(`${(error as Error).message}. Local time is UTC`);
		}
		const reactions = new Reactions(app, zone);
		for (const handler of findDevice()?.handlers ?? []) {
			reactions.add(new HandlerReaction(handler));
		}
		app.listen(reactions);
		if (app.board.settings !== undefined) {
			app.listen(new StoredRules(app, reactions));
		}
	},
});

/** Handlers of the module `device`, and rules of clients. */
export default rulesFeature(() => inBuild("device"));

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

	/** Resumes the handler if it was paused as a loop: no client could. */
	override onMinute(app: Application): void {
		super.onMinute(app);
		if (!this.on) {
			this.on = true;
			app.log(`${this.name}: resumed`);
		}
	}
}
