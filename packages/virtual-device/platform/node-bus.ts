import { boot, receive, send } from "./bridge.js";
import { type ChipAddress, type ChipValues, connectBus, setChip } from "./io/bus.js";

// The bus of a virtual device, whose chips Node shows and sets.

export * from "./io/bus.js";

connectBus((...chip) => send(["chip.open", ...chip]), boot.chips);
receive("chip.set", ([address, values]) => setChip(address as ChipAddress, values as ChipValues));
