/** Every target tells the SDK its pins and buses. This one has none. */
export default {};
