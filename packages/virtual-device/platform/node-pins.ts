import { boot, receive, send } from "./bridge.js";
import { connectPins, type PinLevel, setPin } from "./io/pins.js";

// The pins of a virtual device, which Node shows and sets.

export * from "./io/pins.js";

connectPins(
	{
		open: (pin, kind, part, level) => send(["pin.open", pin, kind, part, level]),
		write: (pin, value) => send(["pin.write", pin, value]),
		close: (pin) => send(["pin.close", pin]),
	},
	boot.pins,
);
receive("pin.set", ([pin, level]) => setPin(pin as number, level as PinLevel));
