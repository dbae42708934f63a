//go:build !linux

package app

// releaseProgram does nothing, because these systems map single pages of a program.
func releaseProgram() {}
