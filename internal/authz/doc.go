// Package authz decides who may do what: actors, roles, permissions of routes, and the rules of administration.
//
// Each route that requires a permission has one, created from the route table. Roles hold permissions; owners have all.
// SQL is authoritative. Each process holds the permissions of all roles in memory, reads changes every second, and
// refuses everyone but owners while they are older than five seconds.
package authz
