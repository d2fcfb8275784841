// The firmware, and a broom: what the simulator's instruments show is then what is in use, without garbage.
import Debug from "debug";
import Timer from "timer";
import "src/main";

/** Milliseconds: the instruments are read once a second. */
const INTERVAL = 200;

Timer.repeat(() => Debug.gc(), INTERVAL);
