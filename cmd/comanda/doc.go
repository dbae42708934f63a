// Command comanda is self-hosted ordering for restaurants.
//
// One binary contains the server, which takes an order from scanning a table's QR code to the paid kitchen ticket, and
// the tools for operating it: migrations, accounts, exports, backups, consistency checks, benchmarks. Run comanda help
// for the list of commands. Each command has its own file; newRoot is the table of commands.
package main
