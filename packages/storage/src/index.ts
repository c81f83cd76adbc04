/** @quorate/storage: a Raft log on LevelDB that notices what LevelDB loses. */
export { type DirectoryOptions, openDirectory } from "./directory/openDirectory.ts";
