// Package stock counts what may still be sold.
package stock

// Quota is a limit.
type Quota int
