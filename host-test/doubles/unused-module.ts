/** Stands in on Node for Moddable's modules `time` and `timer`: suites pass their own clock and timers. */
export default {};
