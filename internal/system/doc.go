// Package system is what operators may ask a running installation, and what they may have it do once more: the same that
// the commands do beside it, from the console and for one house at a time.
//
// What takes long is bounded and done by one caller at a time in each process, because guests are served by it meanwhile;
// a house that has grown beyond the bounds uses the commands. Nothing that is shown holds a secret.
package system
