//go:build fasthash

package main

import "comanda/internal/account"

// Tests that are not about the cost of a password build the command with the tag fasthash. A release has no setting for
// the cost, so no operator can lower it.
func init() { //nolint:gochecknoinits // before anything hashes
	account.DefaultArgon2Params = account.Argon2Params{Memory: 16, Time: 1, Threads: 1}
}
