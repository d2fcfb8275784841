import { device, relay } from "xs-mcp";

/** The parts that are connected to the board. Each is in the device's status, and is a tool for agents. */
export default device({
	board: "{{target}}",
	parts: {
		lamp: relay({ pin: 4, title: "Lamp" }),
	},
});
