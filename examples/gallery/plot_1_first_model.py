"""
First model
===========

x
"""
print('hello')
