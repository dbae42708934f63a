// Package stray belongs to nobody in the whole house.
package stray
