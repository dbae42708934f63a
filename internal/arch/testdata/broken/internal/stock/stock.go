// Package stock counts what may still be sold.
package stock
