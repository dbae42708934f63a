// Package system provides operators with the status and the repair functions of an installation. The command line and
// the console's routes call the same Service.
//
// Long operations are limited in size and run one at a time per process, because the process also serves guests. Larger
// installations use the commands. Secrets are never shown.
package system
