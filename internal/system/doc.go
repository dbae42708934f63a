// Package system provides operators with the status and the repair functions of a running installation, for the
// console; the command line has the same functions.
//
// Long operations are limited in size and run one at a time per process, because the process also serves guests. Larger
// installations use the commands. Secrets are never shown.
package system
