// Package authzsql stores roles, permissions and revocations in SQL.
//
// Roles have one lock, which changes of roles, permissions and assignments take first, before accounts.
package authzsql
