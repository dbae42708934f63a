// Package fault is a word that everybody may use.
package fault

// Quota is a limit, too.
type Quota int
