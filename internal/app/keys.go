package app

import (
	"comanda/internal/account"
	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/stock"
	"comanda/internal/visit"
)

// rebuilders maps the names in declarations to the functions that restore keys: loops that look for missing keys, and
// readers that load a missing key from SQL and cache it. A test compares both, so a declaration cannot name a function
// that is gone.
var rebuilders = map[string]any{
	"stock.rebuild":           (*stock.Syncer).Reconcile,
	"visit.resolve":           (*visit.Guests).Resolve,
	"document.rebuild":        (*document.Sampler).RunOnce, // and document.Generation.Reconcile, if all are gone
	"account.authenticate":    (*account.Authenticator).Authenticate,
	"account.syncRevocations": (*account.Authenticator).SyncRevocations,
	"account.requestCode":     (*account.Service).RequestCode,
}

// LintKeys lists the errors in the declarations of keys and channels.
func LintKeys() []string {
	ds := keyspace.Declarations()
	return append(lintKeys(ds), keyspace.LintChannels(keyspace.Channels(), ds)...)
}

// lintKeys also checks that a function exists for each key that is said to be restored.
func lintKeys(ds []keyspace.Decl) []string {
	found := append([]string{}, keyspace.Lint(ds)...)
	for _, d := range ds {
		if _, ok := rebuilders[d.Rebuild]; d.Rebuild != "" && !ok {
			found = append(found, d.Pattern+": nothing is called "+d.Rebuild)
		}
	}
	return found
}
