import { device, relay } from "xs-mcp";

/** The parts that are connected to the board. Each is in the device's status, and is a tool for agents. */
export default device({
	board: "{{target}}",
	parts: {
		pump: relay({ pin: 4, title: "Pump", maxOn: 30 }),
	},
});
