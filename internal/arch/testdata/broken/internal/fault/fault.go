// Package fault is a word that everybody may use.
package fault
