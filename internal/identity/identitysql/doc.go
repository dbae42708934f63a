// Package identitysql keeps accounts, roles, permissions, sessions, codes and the audit log in SQL.
package identitysql
