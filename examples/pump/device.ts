import { analog, contact, device, relay } from "xs-mcp";

/** A pump that knows when the soil is dry. */
export default device({
	parts: {
		pump: relay({ pin: 26, title: "Pump", maxOn: 30 }),
		soil: analog({ pin: 34, kind: "moisture", unit: "%", from: [2900, 1200], to: [0, 100] }),
		door: contact({ pin: 4, pull: "up" }),
	},
});
